import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { ModelError, type ModelReply } from '../../src/model/port';
import { readImage } from '../../src/workspace/image';
import { answering, said } from './support/answeringModel';
import { call, ScriptedModel, text } from './support/scriptedModel';
import { closeTeams, openTeam } from './support/team';
import { results } from './support/turns';

/** The first bytes of a picture of 300 × 200, as far as they say its kind and size. */
const png = (width = 300, height = 200): Buffer => {
  const bytes = Buffer.alloc(24);
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const riff = (kind: string, rest: string): Buffer =>
  Buffer.concat([Buffer.from(`RIFF\0\0\0\0WEBP${kind}\0\0\0\0`, 'latin1'), hex(rest)]);

describe('pictures', () => {
  const kinds: [string, Buffer, string][] = [
    ['png', png(), 'image/png'],
    ['gif', Buffer.concat([Buffer.from('GIF89a'), hex('2c01 c800')]), 'image/gif'],
    // A thumbnail's marker, fill bytes and a table stand before the frame.
    ['jpeg', hex('ffd8 ffe0 0004 0000 ffff c4 0003 00 ffc2 0011 08 00c8 012c 03'), 'image/jpeg'],
    ['webp', riff('VP8 ', '000000 9d012a 2c01 c800'), 'image/webp'],
    ['webp, lossless', riff('VP8L', '2f 2bc1 3100 00'), 'image/webp'],
    ['webp, extended', riff('VP8X', '00000000 2b0100 c70000'), 'image/webp'],
  ];
  for (const [name, bytes, mediaType] of kinds)
    it(`a ${name} is known by its bytes, with its size`, () => {
      const image = readImage('x', bytes);
      assert.deepEqual(
        { mediaType: image?.mediaType, width: image?.width, height: image?.height },
        { mediaType, width: 300, height: 200 },
      );
    });

  it('what is none, or is cut off before its size, is none', () => {
    assert.equal(readImage('x', Buffer.from('hello')), undefined);
    assert.equal(readImage('x', Buffer.alloc(0)), undefined);
    for (const [, bytes] of kinds)
      for (let length = 0; length < bytes.length; length++) readImage('x', bytes.subarray(0, length));
    assert.equal(readImage('x', png().subarray(0, 20)), undefined);
  });

  it('one that is too large is refused with what to do', () => {
    assert.throws(() => readImage('x.png', png(8001, 10)), /8001 × 10 pixels.*smaller copy/);
    const heavy = Buffer.concat([png(), Buffer.alloc(4_000_000)]);
    assert.throws(() => readImage('x.png', heavy), /4000024 bytes.*smaller copy/);
  });
});

describe('read_file of a picture', () => {
  afterEach(closeTeams);

  it('shows it, beside a line about it, and again after a restart', async () => {
    const model = new ScriptedModel({
      lead: [
        [call('read_file', { path: 'a.PNG' }), call('read_file', { path: 'text.png' })],
        [text('A picture.')],
      ],
    });
    const team = await openTeam(model);
    await writeFile(path.join(team.root, 'a.PNG'), png());
    await writeFile(path.join(team.root, 'text.png'), 'no picture');
    await team.core.sendToLead('Look.');
    const [picture, words] = results(model.of('lead')[1]);
    assert.equal(picture?.content, 'a.PNG: image/png, 300 × 200 pixels, 24 bytes');
    assert.deepEqual(picture?.images, [{ mediaType: 'image/png', data: png().toString('base64') }]);
    assert.equal(words?.content, 'no picture');
    assert.equal(words?.images, undefined);
    const after = new ScriptedModel({ lead: [[text('Still there.')]] });
    const again = await team.reopen(after);
    await again.core.sendToLead('And now?');
    const kept = after.of('lead')[0]?.messages.flatMap((turn) => (turn.role === 'user' ? turn.content : []));
    assert.deepEqual(
      kept?.find((block) => block.type === 'tool_result'),
      picture,
    );
  });

  it('goes on without it where the model cannot see', async () => {
    const model = answering((request): Partial<ModelReply> => {
      const sent = JSON.stringify(request.messages);
      if (sent.includes('"images"')) throw new ModelError('no_images', 'It cannot be shown pictures.');
      if (sent.includes('tool_result')) return said('I cannot see it.');
      return { content: [call('read_file', { path: 'a.png' })], stopReason: 'tool_use' };
    });
    const team = await openTeam(model);
    await writeFile(path.join(team.root, 'a.png'), png());
    await team.core.sendToLead('Look.');
    assert.equal(model.requests.length, 3);
    assert.match(JSON.stringify(model.requests[2]?.messages), /24 bytes.*cannot be shown pictures/);
    const lines = JSON.stringify(await team.core.transcript('lead'));
    assert.match(lines, /"images"/, 'the transcript keeps it');
  });
});
