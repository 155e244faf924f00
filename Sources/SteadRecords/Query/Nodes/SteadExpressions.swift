/// The nodes of predicates that Foundation lacks; not for use by hand.
///
/// The names are different from Foundation's, since a later Foundation may have nodes of the same names.
public enum _SteadExpressions {}
