/// What a relationship's storage holds.
public enum _SlotContent {
  case attribute
  case toOne(_Target)
  case toMany(_Targets)
}
