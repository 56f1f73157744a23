package watch

// source is the operating system's news of directories. One goroutine calls
// add and remove; the events come in others.
type source interface {
	// add watches the directory at path and returns what stands for it: the
	// same as before where that directory is watched already, whatever its
	// path was then. If contents is false, writes to files in it may be left out.
	add(path string, contents bool) (watched, error)
	// remove ends a watch. Events of before may still come.
	remove(watched)
	// drain handles the events of what has happened so far before it returns,
	// where the operating system can be asked for them.
	drain()
	// close ends all watches. It returns when no event comes any more.
	close() error
}

// watched stands for a watched directory, not for its path.
type watched int

// event is what happened in a watched directory.
type event struct {
	dir watched
	// name is an entry of dir, or empty for dir itself.
	name string
	// attributes is true where no content changed, but maybe the mode.
	attributes bool
	// gone is true where dir is watched no longer.
	gone bool
	// lost is true where events were lost; nothing else is set then.
	lost bool
	// failure is why the source is of no more use, or nil; nothing else is
	// set then.
	failure error
}
