using System.Xml.Xsl;

namespace Esb.Content.Transforms;

/// <summary>Compiled stylesheets by the hash of their content: compiling costs a hundred times what running does, and a reload usually
/// changes none. Thread-safe.</summary>
internal sealed class StylesheetCache
{
    /// <summary>The one of this process.</summary>
    public static readonly StylesheetCache Shared = new();

    // weak: a stylesheet goes when its last configuration does
    private readonly Dictionary<string, WeakReference<XslCompiledTransform>> _known = [];
    private readonly Lock _compiling = new();

    /// <summary>How often a stylesheet was compiled.</summary>
    public int Compilations { get; private set; }

    /// <exception cref="MapFileException">The stylesheet has an error.</exception>
    public XslCompiledTransform Compile(StylesheetFiles files)
    {
        lock (_compiling)
        {
            if (_known.TryGetValue(files.ContentHash, out var known) && known.TryGetTarget(out var compiled))
                return compiled;
            compiled = XsltCompiler.Compile(files);
            Compilations++;
            _known[files.ContentHash] = new WeakReference<XslCompiledTransform>(compiled);
            return compiled;
        }
    }
}
