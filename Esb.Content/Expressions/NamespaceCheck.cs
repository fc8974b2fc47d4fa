using System.Xml;
using Esb.Core;
using Esb.Core.Configuration;

namespace Esb.Content.Expressions;

/// <summary>Reports prefixes and namespaces that XML does not allow.</summary>
internal sealed class NamespaceCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        foreach (var (prefix, config) in configuration.Named<NamespaceConfig>("namespaces"))
        {
            if (!IsPrefix(prefix)) errors.Add("ESB-CFG-NAME", config.Path, "expected a prefix that XML allows, other than xml and xmlns", config.Origin);
            if (config.IsWhole && config.Uri.Length == 0) errors.Add("ESB-CFG-VALUE", config.Path, "expected a namespace URI; a prefix cannot stand for no namespace", config.Origin);
        }
    }

    /// <summary>Whether a name may be a prefix: Namespaces in XML 1.0, sections 3 and 4.</summary>
    public static bool IsPrefix(string name) =>
        name is not ("xml" or "xmlns") && name.Length > 0 && XmlConvert.IsStartNCNameChar(name[0]) && name.All(XmlConvert.IsNCNameChar);
}
