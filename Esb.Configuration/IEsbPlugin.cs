using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration;

/// <summary>Registers the extensions of a plug-in assembly: endpoint types, steps, formats.</summary>
/// <remarks>
/// The program looks for <c>plugins/NAME/NAME.dll</c> with one public class that implements this interface, has a public constructor
/// without parameters, and was built for this version of the contracts. The class is created once and called for each configuration that is
/// read.
/// </remarks>
public interface IEsbPlugin
{
    /// <summary>Registers with the methods that the program itself uses: <c>AddEndpointType</c>, <c>AddStep</c>, <c>AddKind</c>,
    /// <c>AddSection</c>, <c>AddCompiler</c>. Starts and opens nothing.</summary>
    /// <param name="services">Receives the registrations of the plug-in; it does not contain those of others.</param>
    void Register(IServiceCollection services);
}
