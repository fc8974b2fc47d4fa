using Esb.Content.Transforms;

namespace Esb.Tests.Content.Transforms;

/// <summary>Maps for tests.</summary>
internal static class SomeMaps
{
    public const string Identity =
        """<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>""";

    /// <summary>A stylesheet with this inside.</summary>
    public static string Stylesheet(string body) =>
        $"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">{body}</xsl:stylesheet>""";

    /// <summary>A compiled map called test.</summary>
    public static XsltMap Compile(string body, TransformLimits? limits = null) => CompileText(Stylesheet(body), limits);

    /// <summary>A whole stylesheet.</summary>
    public static XsltMap CompileText(string stylesheet, TransformLimits? limits = null) => Compile(Read(stylesheet), limits);

    public static StylesheetFiles Read(string stylesheet)
    {
        var path = Path.GetTempFileName();
        try
        {
            File.WriteAllText(path, stylesheet);
            return StylesheetFiles.Read(path);
        }
        finally
        {
            File.Delete(path);
        }
    }

    public static XsltMap Compile(StylesheetFiles files, TransformLimits? limits = null, StylesheetCache? cache = null) =>
        new("test", files, cache ?? new StylesheetCache(), SomeContent.Xml, limits ?? new TransformLimits(), TimeProvider.System);
}
