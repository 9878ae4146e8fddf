import assert from 'node:assert/strict';
import { stall, text, toolUse } from '../../model-server';
import { held } from '../support/lines';
import type { Scene } from '../support/scene';

const HOSTILE = [
  'Look at this.',
  '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>',
  '![picture](https://tracker.invalid/pixel.png)',
  '[run](command:handshake.stopAll) [good](https://example.com/docs)',
].join('\n\n');

/** Talking with the lead, over HTTP. */
export function conversation(scene: Scene): void {
  describe('the Conversation', () => {
    beforeEach(() => scene.fresh());

    it('shows an answer while it streams, and can stop it', async () => {
      const page = await scene.conversation();
      const half = held();
      const words = text('The first words are here, and the last words come later.');
      scene.play({ lead: [stall([words], { afterEvents: 5 }, half.until)] });
      await scene.tell('Tell me a story.');
      const answer = page.locator('.assistant.streaming');
      await answer.getByText('The first words').waitFor();
      assert.doesNotMatch((await answer.textContent()) ?? '', /come later/);
      await page.getByRole('button', { name: 'Stop the lead' }).waitFor();
      half.release();
      await page.locator('.assistant:not(.streaming)').getByText('the last words come later.').waitFor();
      await page.getByRole('button', { name: 'Stop the lead' }).waitFor({ state: 'hidden' });
    });

    it('stops an answer on a click, and goes on with the next sentence', async () => {
      const page = await scene.conversation();
      const never = held();
      scene.play({
        lead: [stall([text('This goes on and on and on and on.')], { afterEvents: 5 }, never.until)],
      });
      await scene.tell('Count to a million.');
      await page.locator('.assistant.streaming').waitFor();
      await page.getByRole('button', { name: 'Stop the lead' }).click();
      await page.locator('.assistant.streaming').waitFor({ state: 'detached' });
      never.release();
      scene.play({ lead: [[text('Stopped at three.')]] });
      await scene.tell('How far did you come?');
      await page.getByText('Stopped at three.').waitFor();
    });

    it('shows a call that waits for the human, with the way there', async () => {
      const page = await scene.conversation();
      scene.play({ lead: [[toolUse('bash', { command: 'echo waiting' })]] });
      await scene.tell('Say something in a shell.');
      const call = page.locator('.entry.tool').filter({ hasText: 'echo waiting' });
      await call.getByText('Waiting for your permission').last().waitFor();
      const { id } = await scene.pending('echo waiting');
      await call.getByRole('button', { name: 'Review' }).click();
      await scene.window.clickInlineAction('Requests', id, 'Approve');
      await scene.endsAs(id, 'approved');
      await call.locator('summary.done').waitFor();
      await call.locator('summary').click();
      await call.locator('pre').getByText('waiting', { exact: true }).waitFor();
    });

    it('case 42: what a model writes is inert in the real page', async () => {
      const { window } = scene;
      const asked: string[] = [];
      const watch = (request: { url(): string }): void => {
        if (request.url().includes('tracker.invalid')) asked.push(request.url());
      };
      window.page.on('request', watch);
      try {
        scene.play({ lead: [[text(HOSTILE)]] });
        await scene.tell('What have you found?');
        const page = await scene.conversation();
        const said = page.locator('.assistant').filter({ hasText: 'Look at this.' });
        await said.getByText('good').waitFor();
        assert.equal(await said.locator('img, script').count(), 0);
        const links = await said
          .locator('a')
          .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
        // The address of the picture stands there as text, and may be a link that a person can follow.
        for (const href of links) assert.match(href, /^https:\/\/(example\.com|tracker\.invalid)\//);
        assert.equal(await page.evaluate('window.hacked'), undefined);
        const policy = await page
          .locator('meta[http-equiv="Content-Security-Policy"]')
          .getAttribute('content');
        assert.match(policy ?? '', /^default-src 'none'; script-src 'nonce-[^']+';/);
        assert.deepEqual(asked, []);
      } finally {
        window.page.off('request', watch);
      }
    });
  });
}
