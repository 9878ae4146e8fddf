import type {
  CommandOptions,
  CommandOutcome,
  FileIdentity,
  ImageFile,
  IsolatedFolder,
  MemberWorkspace,
  ReadOptions,
} from './port';

/** A view of a worktree that is looked at anew before everything that is done in it. */
export class IsolatedWorkspace implements MemberWorkspace {
  constructor(
    private readonly inner: MemberWorkspace,
    private readonly isolated: IsolatedFolder,
  ) {}

  async readFile(path: string, options?: ReadOptions): Promise<string> {
    await this.isolated.check();
    return this.inner.readFile(path, options);
  }

  async readImage(path: string): Promise<ImageFile | undefined> {
    await this.isolated.check();
    return this.inner.readImage(path);
  }

  async writeFile(path: string, content: string): Promise<string> {
    await this.isolated.check();
    return this.inner.writeFile(path, content);
  }

  async editFile(path: string, oldText: string, newText: string): Promise<string> {
    await this.isolated.check();
    return this.inner.editFile(path, oldText, newText);
  }

  async previewWrite(path: string, content: string): Promise<string> {
    await this.isolated.check();
    return this.inner.previewWrite(path, content);
  }

  async previewEdit(path: string, oldText: string, newText: string): Promise<string> {
    await this.isolated.check();
    return this.inner.previewEdit(path, oldText, newText);
  }

  async identify(path: string): Promise<FileIdentity> {
    await this.isolated.check();
    return this.inner.identify(path);
  }

  forget(identity: FileIdentity): void {
    this.inner.forget(identity);
  }

  async runCommand(command: string, options: CommandOptions): Promise<CommandOutcome> {
    await this.isolated.check();
    return this.inner.runCommand(command, options);
  }
}
