/// The release that the daemon and its clients belong to.
public enum Release {
  /// The version of all programs and libraries here.
  public static let version = "0.2.0"
}
