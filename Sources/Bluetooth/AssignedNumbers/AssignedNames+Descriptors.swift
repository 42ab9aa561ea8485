extension AssignedNames {
  /// Declarations and descriptors (Assigned Numbers, 3.6 and 3.7).
  static let descriptors = table(
    """
    2800 Primary Service
    2801 Secondary Service
    2802 Include
    2803 Characteristic
    2900 Characteristic Extended Properties
    2901 Characteristic User Description
    2902 Client Characteristic Configuration
    2903 Server Characteristic Configuration
    2904 Characteristic Presentation Format
    2905 Characteristic Aggregate Format
    2906 Valid Range
    2907 External Report Reference
    2908 Report Reference
    2909 Number of Digitals
    290A Value Trigger Setting
    290B Environmental Sensing Configuration
    290C Environmental Sensing Measurement
    290D Environmental Sensing Trigger Setting
    290E Time Trigger Setting
    290F Complete BR-EDR Transport Block Data
    2910 Observation Schedule
    2911 Valid Range and Accuracy
    """)
}

extension AssignedNames {
  /// The signs of the units that are met often (Assigned Numbers, 3.5); "1" is a number without a unit.
  package static let units = table(
    """
    2700 1
    2701 m
    2702 kg
    2703 s
    2704 A
    2705 K
    2706 mol
    2707 cd
    2710 m²
    2711 m³
    2712 m/s
    2713 m/s²
    2720 rad
    2722 Hz
    2723 N
    2724 Pa
    2725 J
    2726 W
    2727 C
    2728 V
    2729 F
    272A Ω
    272B S
    272D T
    272F °C
    2730 lm
    2731 lx
    2733 Gy
    2734 Sv
    2743 rad/s
    2760 min
    2761 h
    2762 d
    2763 °
    2767 l
    2780 bar
    2781 mmHg
    27A0 yd
    27A2 in
    27A3 ft
    27A4 mi
    27A6 km/h
    27A7 mph
    27A8 rpm
    27A9 cal
    27AB kWh
    27AC °F
    27AD %
    27AE ‰
    27AF bpm
    27B0 Ah
    27B1 mg/dl
    27B2 mmol/l
    27B3 a
    27B6 W/m²
    27B8 lb
    27C4 ppm
    27C5 ppb
    """)
}
