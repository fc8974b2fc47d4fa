using Esb.Content.Xml;
using Esb.Core.Errors;

namespace Esb.Content.Transforms;

/// <summary>Compiles a map from a file, without a configuration: to try it.</summary>
public static class MapFile
{
    /// <summary>The compiled map, with the limits that a configuration has by default.</summary>
    /// <param name="path">The stylesheet, JavaScript module or Liquid template.</param>
    /// <param name="time">Bounds how long the map may run.</param>
    /// <exception cref="EsbException"><c>ESB-XSL-…</c>, <c>ESB-JS-COMPILE</c>, <c>ESB-LQD-COMPILE</c>: it cannot be used; the message names
    /// file, line and column.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be read.</exception>
    public static IMessageMap Open(string path, TimeProvider time)
    {
        try
        {
            var languages = new MapLanguages(new XmlInput(new XmlLimits()), new Dictionary<string, string>(), new TransformLimits(), time);
            return languages.Open(Path.GetFileNameWithoutExtension(path), Path.GetFullPath(path)).Map;
        }
        catch (MapFileException ex)
        {
            var file =
                Uri.TryCreate(ex.Uri, UriKind.Absolute, out var uri) && uri.IsFile
                    ? Path.GetRelativePath(Directory.GetCurrentDirectory(), uri.LocalPath)
                    : path;
            throw new EsbException(
                ex.Code,
                $"{file}, line {ex.Line}, column {ex.Column}: {ex.Message}.",
                FaultKind.Internal,
                ex.InnerException
            );
        }
    }
}
