using System.Security.Cryptography;
using System.Xml;
using System.Xml.Schema;
using Esb.Configuration.Compiling;
using Esb.Content.Xml;

namespace Esb.Content.Schemas;

/// <summary>Compiles XML Schema (XSD 1.0) with what it includes and imports.</summary>
internal static class XsdCompiler
{
    private const string Code = "ESB-XSD-COMPILE";

    /// <summary>The same for schemas whose files have the same names and bytes.</summary>
    public static string HashOf(XmlSchemaSet schemas) =>
        Fingerprint.Of(
            PathsOf(schemas)
                .Select(path => $"{Path.GetFileName(path)} {Convert.ToHexStringLower(SHA256.HashData(File.ReadAllBytes(path)))}")
                .Order(StringComparer.Ordinal)
        );

    /// <summary>Every file that it consists of.</summary>
    public static IReadOnlyList<string> PathsOf(XmlSchemaSet schemas) =>
        [.. schemas.Schemas().Cast<XmlSchema>().Select(schema => new Uri(schema.SourceUri!).LocalPath).Distinct()];

    /// <summary>The compiled schema, which any number of threads may validate with; null after an error.</summary>
    public static XmlSchemaSet? Compile(ContentFile file)
    {
        var resolver = new FolderResolver(file.Folder);
        var schemas = new XmlSchemaSet { XmlResolver = resolver };
        var isBroken = false;
        schemas.ValidationEventHandler += (_, problem) =>
        {
            isBroken = true; // a warning too: what could not be included would be missed only when a message comes
            file.Report(Code, problem.Exception.SourceUri, problem.Exception.LineNumber, problem.Exception.LinePosition, problem.Message);
        };
        try
        {
            using var reader = XmlReader.Create(File.OpenRead(file.Path), ContentFile.ReaderSettings, new Uri(file.Path).AbsoluteUri);
            schemas.Add(null, reader);
            schemas.Compile();
        }
        catch (XmlException ex)
        {
            isBroken = true;
            file.Report(Code, ex.SourceUri, ex.LineNumber, ex.LinePosition, XmlFaults.Cause(ex.Message));
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            isBroken = true;
            file.Report(Code, $"cannot be read: {ex.Message}");
        }

        foreach (var reference in resolver.Refused)
        {
            isBroken = true;
            file.Report(Code, $"refers to {reference}; only relative names of files in the schema's folder or below are allowed");
        }

        return isBroken ? null : schemas;
    }
}
