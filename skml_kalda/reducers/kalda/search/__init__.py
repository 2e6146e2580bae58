"""kaLDA with parameters chosen by cross-validation."""
