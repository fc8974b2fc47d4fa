using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration;

/// <summary>What an assembly brings that the program does not know: endpoint types, steps, formats.</summary>
/// <remarks>
/// The program looks for <c>plugins/NAME/NAME.dll</c> with one public class that implements this, has a public constructor without
/// parameters, and was built for this version of the contracts. The class is made once and asked for each configuration that is read.
/// </remarks>
public interface IEsbPlugin
{
    /// <summary>Registers with the lines that the program uses itself: <c>AddEndpointType</c>, <c>AddStep</c>, <c>AddKind</c>,
    /// <c>AddSection</c>, <c>AddCompiler</c>. Starts and opens nothing.</summary>
    /// <param name="services">Takes what the plug-in brings; what others registered is not in it.</param>
    void Register(IServiceCollection services);
}
