package staging

// LimitIdle bounds the copies that are kept though nothing uses them.
func (c *Copies) LimitIdle(copies int, bytes int64) { c.idleCopies, c.idleBytes = copies, bytes }

// LimitLibrary bounds a library.
func (c *Copies) LimitLibrary(files int, bytes int64) { c.libraryFiles, c.libraryBytes = files, bytes }
