/// The nodes of predicates that Foundation lacks; not for use by hand.
///
/// Names of their own, since a later Foundation may have nodes of the same names.
public enum _SteadExpressions {}
