// The program of the Worker.
import { serve } from "./service.js";

serve(self);
