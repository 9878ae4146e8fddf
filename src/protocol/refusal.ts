/** Why the registry refused; the first six are the checks of a decision, in their order. */
export type RefusalCode =
  | 'unknown_request'
  | 'wrong_kind'
  | 'wrong_responder'
  | 'already_decided'
  | 'stale_work'
  | 'not_allowed'
  | 'invalid_request'
  /** A line in an inbox file that poses as control. */
  | 'foreign_control';

/** A refusal changes nothing. Its message is for the caller, be it a model or a person. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly code: RefusalCode,
    message: string,
    readonly requestId?: string,
  ) {
    super(message);
  }
}
