/// What the daemon and its clients come from.
public enum Release {
  /// The version of all programs and libraries here.
  public static let version = "0.1.0"
}
