print("bled")
