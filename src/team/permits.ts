import { type HandshakeRequest, permissionPayload, type RequestRegistry } from '../protocol';

/** Which permissions count still. A gap in the journal voids those before it. */
export class Permits {
  #voided = 0;
  /** Until then lines may be missing, such as that a call had begun; milliseconds since the epoch. */
  #gapAt = 0;

  constructor(private readonly registry: RequestRegistry) {}

  /** How many requests, oldest first, were there when permits were last voided. */
  get voided(): number {
    return this.#voided;
  }

  /** @param voided as {@link voided} gave it before */
  restore(voided: number): void {
    this.#voided = voided;
  }

  /** None that was given so far counts any more. */
  void(at: number): void {
    this.#voided = this.registry.all().length;
    this.#gapAt = at;
  }

  /**
   * The newest permission request for a call, as long as it counts.
   * @param since milliseconds since the epoch: when the model made the call
   */
  permissionFor(
    member: string,
    incarnation: number,
    toolUseId: string,
    since: number,
  ): HandshakeRequest | undefined {
    return this.registry
      .all()
      .slice(this.#voided)
      .findLast(
        (request) => request.work.incarnation === incarnation && asksFor(request, member, toolUseId, since),
      );
  }

  /** Whether a call made at that time, of which no line tells, may have begun: a gap may hold the line that says so. */
  mayHaveBegun(member: string, toolUseId: string, since: number): boolean {
    if (since > this.#gapAt) return false;
    // One that has asked is asked for again.
    return !this.registry.all().some((request) => asksFor(request, member, toolUseId, since));
  }
}

function asksFor(request: HandshakeRequest, member: string, toolUseId: string, since: number): boolean {
  return (
    request.kind === 'tool_permission' &&
    request.from === member &&
    request.createdAt >= since &&
    permissionPayload.parse(request.payload).toolUseId === toolUseId
  );
}
