package index

// Seal makes an index of a payload, whatever it is.
func Seal(payload []byte) []byte { return seal(append(make([]byte, headerBytes), payload...)) }
