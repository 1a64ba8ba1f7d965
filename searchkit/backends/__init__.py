"""Where records and parts are kept; one seam, several stores."""
