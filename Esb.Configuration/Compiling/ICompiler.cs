using Esb.Core.Configuration;

namespace Esb.Configuration.Compiling;

/// <summary>Compiles one part of a configuration into a model.</summary>
/// <remarks>
/// Created and used once per revision, by one thread, in the compile phase. The constructor may request <see cref="EsbConfiguration"/>,
/// <see cref="ConfigErrors"/>, <see cref="TimeProvider"/>, and every model and service registered for compiling. Services of the running
/// bus are not available.
/// It may read files. It opens nothing for writing, no socket and no connection, and starts no timer and no thread. Settings never make it
/// throw.
/// </remarks>
/// <typeparam name="TModel">An immutable model; parts that cannot be compiled are omitted and reported.</typeparam>
public interface ICompiler<out TModel>
{
    /// <summary>Compiles the model and reports every error to the <see cref="ConfigErrors"/> of the phase.</summary>
    TModel Compile();
}
