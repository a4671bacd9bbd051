
small
xa"Relu
aa"Sigmoid*	
nB
in
a
xy"Sum*
i0:xBy