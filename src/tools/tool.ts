import * as z from 'zod';
import type { ImagePart, JsonObject, ToolSpec } from '../model/port';
import { type ApprovalPolicy, LEAD } from '../protocol';
import type { CallRef } from '../team/recordParts';
import type { Team } from '../team/team';
import type { FileIdentity, MemberWorkspace } from '../workspace/port';

/** Who calls a tool, as the dispatcher knows it; nothing in it comes from the model. */
export interface ToolContext {
  member: string;
  incarnation: number;
  team: Team;
  workspace: MemberWorkspace;
  /** This call, to be named by every change that comes of it. */
  call: CallRef;
  /** Aborted when the member is interrupted or stopped. */
  signal: AbortSignal;
  /** Messages that the model is shown through this call's result. */
  takeMail(): Promise<string>;
}

/** What a call would do, for the human who is asked first. */
export interface AccessRequest {
  access: 'command' | 'edit';
  /** The command or the path, whole. */
  subject: string;
  preview?: string;
  description?: string;
}

/** One tool as one role has it. */
export interface ToolFace {
  description: string;
  inputSchema: JsonObject;
  /** Reads the model's input and gives the call. @throws {ToolInputError} */
  prepare(input: unknown): PreparedCall;
}

/** A result that is more than words. */
export interface ToolOutput {
  text: string;
  images: ImagePart[];
}

export interface PreparedCall {
  /** What needs a permission, or undefined. It may fail as the call itself would, before anybody is asked. */
  access?(context: ToolContext): Promise<AccessRequest>;
  /** The file that the call changes, for a tool that changes one. It may fail as the call itself would. */
  file?(context: ToolContext): Promise<FileIdentity>;
  /** @returns the tool's result for the model; failures are thrown with a message for it */
  run(context: ToolContext): Promise<string | ToolOutput>;
}

/**
 * `read` changes nothing and runs beside others; `team` changes the team and runs in order; `workspace`
 * mutates what the user owns: it runs in order, behind the plan gate.
 */
export type ToolEffect = 'read' | 'team' | 'workspace';

export interface Tool {
  name: string;
  effect: ToolEffect;
  lead?: ToolFace;
  teammate?: ToolFace;
  /**
   * All that it changes is one record of the journal, which names the call: that it has begun is written together
   * with it, in one sync.
   */
  oneRecord?: true;
  /** A read of the workspace's files: a role may take it away. */
  readsWorkspace?: true;
  /** Where the settings decide whether its role has it; it then comes and goes with them. */
  offeredWhile?(policy: ApprovalPolicy): boolean;
  /**
   * Not one of Handshake's: it may run code that reaches commands and the exported API. It always asks first
   * (unless everything is allowed), and while it runs no decision is taken by string id.
   */
  foreign?: true;
}

export class ToolInputError extends Error {
  override readonly name = 'ToolInputError';
}

interface FaceDefinition<S extends z.ZodType> {
  description: string;
  input: S;
  access?(input: z.infer<S>, context: ToolContext): Promise<AccessRequest>;
  file?(input: z.infer<S>, context: ToolContext): Promise<FileIdentity>;
  run(input: z.infer<S>, context: ToolContext): Promise<string | ToolOutput>;
}

/** Builds a face from its schema: the model sees the JSON Schema, the handler gets parsed input only. */
export function face<S extends z.ZodType>(definition: FaceDefinition<S>): ToolFace {
  const { description, input: schema, access, file, run } = definition;
  let inputSchema: JsonObject | undefined;
  return {
    description,
    // Made when a model is first offered the tool: it takes time that the start of the editor does not have.
    get inputSchema() {
      inputSchema ??= jsonSchemaOf(schema);
      return inputSchema;
    },
    prepare(raw) {
      const parsed = schema.safeParse(raw);
      if (!parsed.success) {
        const problems = parsed.error.issues.map(
          (issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`,
        );
        throw new ToolInputError(problems.join('; '));
      }
      const input = parsed.data;
      return {
        run: (context) => run(input, context),
        ...(access === undefined ? {} : { access: (context: ToolContext) => access(input, context) }),
        ...(file === undefined ? {} : { file: (context: ToolContext) => file(input, context) }),
      };
    },
  };
}

function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, { io: 'input' });
  return jsonSchema;
}

export function faceFor(tool: Tool, member: string): ToolFace | undefined {
  return member === LEAD ? tool.lead : tool.teammate;
}

export function specOf(tool: Tool, member: string): ToolSpec | undefined {
  const own = faceFor(tool, member);
  return own && { name: tool.name, description: own.description, inputSchema: own.inputSchema };
}
