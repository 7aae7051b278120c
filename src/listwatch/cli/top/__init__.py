"""The live table of `listwatch top`: rows in order, columns by kind, keys of the keyboard."""
