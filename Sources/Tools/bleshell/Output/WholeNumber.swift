extension Int {
  /// The nearest whole number in range: a number of the daemon may have any size.
  init(nearest number: Double) {
    // Exact in both types.
    let limit = 0x1p62
    self = number.isNaN ? 0 : Int(Swift.min(limit, Swift.max(-limit, number.rounded())))
  }
}
