using Esb.Core.Configuration;

namespace Esb.Configuration.Compiling;

/// <summary>A rule that spans several sections of a configuration.</summary>
/// <remarks>Created in the compile phase like an <see cref="ICompiler{TModel}"/>, under the same restrictions, and called after all models
/// are compiled.</remarks>
public interface IConfigurationRule
{
    /// <summary>Reports every violation, except those that only follow from unreadable settings.</summary>
    void Check(ConfigErrors errors);
}
