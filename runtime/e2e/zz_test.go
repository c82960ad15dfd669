package e2e_test
import ("testing";"os";"fmt";"qinst.dev/internal/analysis/steps";"qinst.dev/internal/trace")
func TestZZ(t *testing.T){
 tr,err:=trace.Open(os.Getenv("ZZ")); if err!=nil{t.Fatal(err)}
 p,_,_:=steps.Build(tr,steps.Options{})
 n:=map[string]int{}; d:=map[string]int64{}
 for g:=range p.Gs{ for id:=p.Gs[g].First; id!=0; id=p.Step(id).Next{ s:=p.Step(id)
  k:=""
  if s.Kind==steps.Delay&&s.Cause()==steps.Network {k="outside "+p.R.Groups.Origin(p.R.Contexts.Node(p.Gs[g].Context).Group).Name+" in "+p.R.T.NameOf(trace.PointID(0))}
  if p.Reads(s){k="within"}
  if k!=""{n[k]++; if k=="within"{d[k]+=s.Transit()}else{d[k]+=s.Lasts()}}
 }}
 for k:=range n{fmt.Println(n[k],d[k]/1000,"us",k)}
}
