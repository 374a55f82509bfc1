"""Which small change would make a wrong file right? Found by trying, in an interpreter of our own."""
