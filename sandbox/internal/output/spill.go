package output

import "os"

// spill is the file that holds a whole stream. The zero value takes writes
// and drops them, as one does after its first error.
type spill struct {
	file *os.File
	path string
	room int64 // bytes that may still be written
	err  error
}

func (s *spill) open(config Config) {
	if config.Spill == nil {
		return
	}
	s.room = config.Limit
	s.file, s.path, s.err = config.Spill()
}

func (s *spill) write(p []byte) {
	if s.file == nil || s.err != nil {
		return
	}
	n, err := s.file.Write(p[:min(int64(len(p)), s.room)])
	s.room -= int64(n)
	s.err = err
}

func (s *spill) close() error {
	if s.file != nil {
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	if s.err != nil {
		s.path = ""
	}
	return s.err
}
