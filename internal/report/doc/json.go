package doc

import "encoding/json"

// MarshalJSON writes the value, or the text if there is no value.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c.Value != nil {
		return json.Marshal(c.Value)
	}
	return json.Marshal(c.Text)
}
