using Esb.Core.Configuration;

namespace Esb.Configuration.Compiling;

/// <summary>A rule about what several sections of a configuration say together.</summary>
/// <remarks>Made in the compile phase like an <see cref="ICompiler{TModel}"/>, under the same restrictions, and asked once all models are
/// compiled.</remarks>
public interface IConfigurationRule
{
    /// <summary>Reports everything that is wrong, and nothing that only follows from what could not be read.</summary>
    void Check(ConfigErrors errors);
}
