using Esb.Core.Configuration;

namespace Esb.Configuration.Compiling;

/// <summary>Compiles one part of a configuration into a model.</summary>
/// <remarks>
/// Made and used once for each revision, by one thread, in the compile phase. Its constructor may ask for <see cref="EsbConfiguration"/>,
/// <see cref="ConfigErrors"/>, <see cref="TimeProvider"/>, and for every model and service that was registered for compiling; nothing that
/// runs is there.
/// It may read files. It opens nothing for writing, no socket and no connection, starts no timer and no thread, and throws nothing because
/// of what the settings say.
/// </remarks>
/// <typeparam name="TModel">An immutable model; what could not be compiled is left out of it and reported.</typeparam>
public interface ICompiler<out TModel>
{
    /// <summary>Compiles, and reports every error to the <see cref="ConfigErrors"/> of the phase.</summary>
    TModel Compile();
}
