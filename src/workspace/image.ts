import { type ImageFile, WorkspaceError } from './port';

/** The Messages API takes 5 MB of base64 for a picture, which is a third more than its bytes. */
const MAX_IMAGE_BYTES = 3_750_000;
/** On either side, in pixels; what the Messages API takes. */
const MAX_IMAGE_SIDE = 8000;

/**
 * @returns the picture, or undefined when the bytes are none (whatever the file is called)
 * @throws {WorkspaceError} when it is too large to be shown
 */
export function readImage(name: string, bytes: Buffer): ImageFile | undefined {
  const image = recognize(bytes);
  if (image === undefined) return undefined;
  const { width, height } = image;
  const shrink = 'Make a smaller copy of it with a shell command and read that.';
  if (bytes.length > MAX_IMAGE_BYTES) {
    throw new WorkspaceError(
      `'${name}' is a picture of ${bytes.length} bytes, more than the ${MAX_IMAGE_BYTES} that can be shown. ${shrink}`,
    );
  }
  if (Math.max(width, height) > MAX_IMAGE_SIDE) {
    throw new WorkspaceError(
      `'${name}' is a picture of ${width} × ${height} pixels, more than the ${MAX_IMAGE_SIDE} on a side that can be shown. ${shrink}`,
    );
  }
  return { ...image, bytes };
}

type Recognized = Omit<ImageFile, 'bytes'>;

function recognize(bytes: Buffer): Recognized | undefined {
  try {
    return png(bytes) ?? gif(bytes) ?? webp(bytes) ?? jpeg(bytes);
  } catch (error) {
    // It ends before its size is said: whatever it is, it cannot be shown.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function png(bytes: Buffer): Recognized | undefined {
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined;
  return { mediaType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gif(bytes: Buffer): Recognized | undefined {
  if (!/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return undefined;
  return { mediaType: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webp(bytes: Buffer): Recognized | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return undefined;
  const mediaType = 'image/webp';
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { mediaType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const sizes = bytes.readUInt32LE(21);
      return { mediaType, width: (sizes & 0x3fff) + 1, height: ((sizes >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { mediaType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** The size stands in the first segment that begins a frame. */
function jpeg(bytes: Buffer): Recognized | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // Frames are C0 to CF, but for the tables among them.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return {
        mediaType: 'image/jpeg',
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
      };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
}
