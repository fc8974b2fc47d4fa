namespace Esb.Content.Transforms;

/// <summary>Settings of a map that is a script or a template. Immutable.</summary>
/// <param name="Name">Its name in the configuration.</param>
/// <param name="ContentType">The media type of text that it makes.</param>
/// <param name="Limits">Limits of one run.</param>
/// <param name="OutputBytes">The largest body that it may make.</param>
internal sealed record MapSettings(string Name, MapContentType ContentType, MapLimitsConfig Limits, long OutputBytes);
