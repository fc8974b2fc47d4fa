using System.Xml;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Content.Expressions;

/// <summary>Prefixes for XPath, and the namespace that each stands for. Immutable.</summary>
/// <param name="Uris">Namespace URIs by prefix.</param>
public sealed record NamespaceModel(IReadOnlyDictionary<string, string> Uris);

/// <summary>Compiles the section <c>namespaces</c>: prefixes and namespaces that XML does not allow are reported and left out.</summary>
internal sealed class NamespaceCompiler(IReadOnlyDictionary<string, NamespaceConfig> namespaces, ConfigErrors errors)
    : ICompiler<NamespaceModel>
{
    public NamespaceModel Compile() =>
        new(namespaces.Where(entry => IsSound(entry.Key, entry.Value)).ToDictionary(entry => entry.Key, entry => entry.Value.Uri));

    private bool IsSound(string prefix, NamespaceConfig config)
    {
        var isPrefix = IsPrefix(prefix);
        if (!isPrefix)
            errors.Add("ESB-CFG-NAME", config.Path, "expected a prefix that XML allows, other than xml and xmlns", config.Origin);
        if (config.IsWhole && config.Uri.Length == 0)
            errors.Add("ESB-CFG-VALUE", config.Path, "expected a namespace URI; a prefix cannot stand for no namespace", config.Origin);
        return isPrefix && config.Uri.Length > 0;
    }

    // Namespaces in XML 1.0, sections 3 and 4.
    private static bool IsPrefix(string name) =>
        name is not ("xml" or "xmlns") && name.Length > 0 && XmlConvert.IsStartNCNameChar(name[0]) && name.All(XmlConvert.IsNCNameChar);
}
