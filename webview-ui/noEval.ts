import * as z from 'zod';

// The page's policy forbids code made from text, which zod would try for speed while schemas are made.
// Imported before everything that makes one.
z.config({ jitless: true });
