// Command json marshals and unmarshals a value as often as its argument says.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

type item struct {
	ID     int               `json:"id"`
	Name   string            `json:"name"`
	Price  float64           `json:"price"`
	Tags   []string          `json:"tags,omitempty"`
	Attrs  map[string]string `json:"attrs"`
	Parent *item             `json:"parent"`
	Any    any               `json:"any"`
}

func items() []item {
	list := make([]item, 40)
	for i := range list {
		list[i] = item{
			ID: i, Name: fmt.Sprintf("item <%d>", i), Price: float64(i) * 1.25, Tags: []string{"a", "b\n", "c"},
			Attrs: map[string]string{"colour": "red", "size": fmt.Sprint(i)}, Any: []any{true, nil, 1.5, "x"},
		}
		if i > 0 {
			list[i].Parent = &item{ID: i - 1}
		}
	}
	return list
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	list, sum := items(), 0
	for range n {
		text, err := json.Marshal(list)
		if err != nil {
			panic(err)
		}
		var back []item
		if err := json.Unmarshal(text, &back); err != nil {
			panic(err)
		}
		sum += len(text) + len(back)
	}
	fmt.Println(sum)
}
