using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Delivery;
using Esb.Delivery.Intake;
using Esb.Delivery.Replay;
using Esb.Endpoints.Http;
using Esb.Endpoints.Soap;
using Esb.Endpoints.Sql;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints;

/// <summary>Adapters between the bus and external systems.</summary>
public static class EndpointsRegistration
{
    /// <summary>Registers the endpoint types, and the intake and delivery of messages.</summary>
    public static IServiceCollection AddEsbEndpoints(this IServiceCollection services) =>
        services
            .AddEndpointTypes()
            .AddHttpEndpoints()
            .AddSoapEndpoints()
            .AddRule<SingleInstanceRule>()
            .AddIntake()
            .AddBusTables()
            .AddDelivery()
            .AddOutboxes()
            .AddReplay();
}
