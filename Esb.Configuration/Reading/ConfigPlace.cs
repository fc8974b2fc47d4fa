namespace Esb.Configuration.Reading;

/// <summary>The meaning of relative paths in files that do not stand where they belong: sent by an operator, or kept as a
/// version.</summary>
/// <param name="Folder">The folder of the configuration on this host: relative paths begin here.</param>
/// <param name="Contents">The folder with the maps, schemas and other contents that came with the files; it precedes
/// <paramref name="Folder"/>.</param>
/// <param name="Bootstrap">A configuration on this host whose sections <c>name</c>, <c>transport</c>, <c>store</c> and <c>management</c>
/// replace those of the files; null if the files are the whole.</param>
public sealed record ConfigPlace(string Folder, string Contents, string? Bootstrap = null);
