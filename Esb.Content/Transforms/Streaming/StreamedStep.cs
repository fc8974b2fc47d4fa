namespace Esb.Content.Transforms.Streaming;

/// <summary>Does one thing at the node that the run has come to.</summary>
internal delegate void StreamedStep(StreamedRun run);
