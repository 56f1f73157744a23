package layers

// Doubt has [Store] compare contents, as where time stamps are too coarse.
func (m *Manifest) Doubt() { m.uncertain = true }
