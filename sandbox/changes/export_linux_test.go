package changes

// SetFault has a function called at each moment at which a process may be killed.
func SetFault(f func(moment string)) { fault = f }
