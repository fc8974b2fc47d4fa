using Esb.Configuration;
using Esb.Delivery.Databases;
using Microsoft.Extensions.DependencyInjection;

namespace Lite;

/// <summary>What this assembly brings: a <c>provider</c> of connections.</summary>
public sealed class LitePlugin : IEsbPlugin
{
    public void Register(IServiceCollection services) => services.AddDatabaseClient<LiteClient>();
}
