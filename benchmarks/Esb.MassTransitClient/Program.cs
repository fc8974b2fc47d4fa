using Esb.MassTransitClient;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

// What a .NET application does that picks MassTransit: orders out of a queue, 30 at once, one row with one commit each before the
// acknowledgement. No audit, no order, no dead letters that can be replayed. Addresses as of the host, ESB_RABBITMQ and ESB_POSTGRES; the
// file READY_FILE is written when it consumes.
const int atOnce = 30;
var parts = new NpgsqlConnectionStringBuilder(Required("ESB_POSTGRES"))
{
    MaxPoolSize = atOnce,
    MaxAutoPrepare = 64,
    Enlist = false,
};
await using var database = NpgsqlDataSource.Create(parts);
var builder = Host.CreateApplicationBuilder(args);
builder.Logging.ClearProviders();
builder.Services.AddSingleton(database);
builder.Services.AddMassTransit(bus =>
{
    bus.DisableUsageTelemetry();
    bus.AddConsumer<OrderConsumer>();
    bus.UsingRabbitMq(
        (context, rabbit) =>
        {
            rabbit.Host(new Uri(Required("ESB_RABBITMQ")));
            rabbit.ReceiveEndpoint(
                "masstransit.orders",
                endpoint =>
                {
                    endpoint.PrefetchCount = 2 * atOnce;
                    endpoint.ConcurrentMessageLimit = atOnce;
                    endpoint.UseRawJsonDeserializer(RawSerializerOptions.AnyMessageType, isDefault: true);
                    endpoint.ConfigureConsumer<OrderConsumer>(context);
                }
            );
        }
    );
});
using var host = builder.Build();
await host.StartAsync();
await File.WriteAllTextAsync(Required("READY_FILE"), ""); // it consumes
await host.WaitForShutdownAsync();

static string Required(string name) =>
    Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException($"{name} is not set");
