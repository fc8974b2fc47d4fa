using Esb.Core.Configuration.Settings;

namespace Esb.Content.Expressions;

/// <summary>An entry of the section <c>namespaces</c>: the namespace that a prefix stands for in every XPath of the
/// configuration.</summary>
public sealed record NamespaceConfig : SettingsRecord
{
    /// <summary>The namespace's name.</summary>
    [Setting("The namespace URI that the prefix stands for in XPath.", Main = true)]
    public required string Uri { get; init; }
}
