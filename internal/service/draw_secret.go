package service

import "purveyor/internal/commerce"

// DrawSecret makes a random secret in the form of Standard Webhooks; with draw, as RotateSecret has it, a repeat makes the
// same one.
func (s *Service) DrawSecret(draw string) (string, error) {
	b, err := s.random("secret", draw)
	return commerce.StandardSecret(b), err
}
