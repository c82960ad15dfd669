package doe

// Fit is the evaluation of the responses of a plan's runs. An effect is how much the response rises
// as a factor goes from its low level to its high one; that of an interaction is half of how much
// one factor's effect differs between the other one's levels.
type Fit struct {
	Version  int     `json:"version"`
	Mean     float64 `json:"mean"` // of the runs at low and high levels
	SE       float64 `json:"se"`   // standard error of an effect
	DF       float64 `json:"df"`   // its degrees of freedom
	SEMethod string  `json:"se_method"`
	// Lenth's pseudo standard error, and his own margins of error, for one effect and for all of
	// them, with a probability of 1 - alpha. The intervals of effects are by ratios that are drawn,
	// which is exact.
	PSE     float64  `json:"pse"`
	ME      float64  `json:"me"`
	SME     float64  `json:"sme"`
	Effects []Effect `json:"effects"` // the largest ones first
	// Curvature is by how much the mean of the runs halfway differs from the others'; nil: there
	// are none.
	Curvature *Effect  `json:"curvature,omitempty"`
	Notes     []string `json:"notes"`
}

// Effect is one effect.
type Effect struct {
	Name   string  `json:"name"`
	Effect float64 `json:"effect"`
	SE     float64 `json:"se"`
	T      float64 `json:"t"`
	P      float64 `json:"p"`
	PHolm  float64 `json:"p_holm"` // with as many effects as were tested (Holm 1979)
	Low    float64 `json:"lo"`     // the interval in which it is with a probability of 1 - alpha
	High   float64 `json:"hi"`
	// of the half-normal distribution, at its rank: what is far above a line through the small ones
	// is an effect
	Quantile    float64  `json:"quantile"`
	Significant bool     `json:"significant"`
	Error       bool     `json:"error"`             // it is taken for noise
	Aliases     []string `json:"aliases,omitempty"` // effects that have the same runs at each level

	order int     // factors in it
	each  float64 // standard error, if that of a run is 1
}

// Version is that of a Fit as JSON.
const Version = 1

// Method is where the standard error is from.
type Method struct {
	Name string // "": replicates if there are any, else Lenth's
	// of Pool: interactions of as many factors and more are noise; of Lenth: most of these are, 0:
	// most effects of all
	Order int
}

// Methods.
const (
	Replicates = "replicates"
	Pool       = "pool"
	Lenth      = "lenth"
)

const (
	mostCells   = 1 << 13
	mostEffects = 1 << 18 // that are looked at
)

// Fit finds effects and their errors. Effects are tested with the probability alpha that any is
// found where there is none.
func (d *Data) Fit(by Method, alpha float64) (*Fit, error) {
	c, err := d.cells()
	if err != nil {
		return nil, err
	}
	f := &Fit{Version: Version, Notes: []string{}}
	if err := f.effects(c, d.Factors); err != nil {
		return nil, err
	}
	f.Mean = sum(len(c.means), func(i int) float64 { return c.means[i] }) / float64(len(c.means))
	f.lenth(c, alpha)
	if err := f.error(c, by); err != nil {
		return nil, err
	}
	f.test(c, by, alpha)
	return f, nil
}
