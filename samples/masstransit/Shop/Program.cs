// An application written with MassTransit, as it is: a publisher, consumers, a request client and a saga.
// Commands on standard input: orders COUNT, price SKU, report, stop.
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Shop;
using Shop.Contracts;

var builder = Microsoft.Extensions.Hosting.Host.CreateApplicationBuilder(args);
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.Services.AddSingleton<Ledger>();
builder.Services.AddMassTransit(bus =>
{
    bus.DisableUsageTelemetry();
    bus.SetKebabCaseEndpointNameFormatter();
    bus.AddConsumer<PackedConsumer>();
    bus.AddConsumer<StockConsumer>();
    bus.AddSagaStateMachine<OrderSaga, OrderState>().InMemoryRepository();
    bus.AddRequestClient<GetPrice>();
    bus.UsingRabbitMq(
        (context, rabbit) =>
        {
            rabbit.Host(new Uri(Environment.GetEnvironmentVariable("SHOP_RABBITMQ") ?? "amqp://guest:guest@localhost"));
            rabbit.UseMessageRetry(retry => retry.Immediate(3));
            rabbit.ConfigureEndpoints(context);
        }
    );
});
using var host = builder.Build();
await host.StartAsync();
Console.WriteLine("started");

while (Console.ReadLine() is { } line && line != "stop")
{
    try
    {
        switch (line.Split(' '))
        {
            case ["orders", var count]:
                await PublishAsync(int.Parse(count));
                break;
            case ["price", var sku]:
                await AskAsync(sku);
                break;
            case ["report"]:
                Console.WriteLine(host.Services.GetRequiredService<Ledger>());
                break;
            default:
                Console.WriteLine("orders COUNT, price SKU, report or stop");
                break;
        }
    }
    catch (Exception ex)
    {
        Console.WriteLine($"failed: {ex.GetType().Name}: {ex.Message}");
    }
}

await host.StopAsync();

async Task PublishAsync(int count)
{
    var bus = host.Services.GetRequiredService<IBus>();
    foreach (var chunk in Enumerable.Range(0, count).Chunk(50))
    {
        await Task.WhenAll(
            chunk.Select(number =>
                bus.Publish(
                    new OrderAccepted(NewId.NextGuid(), $"Käse & Söhne {number}", 9.95m),
                    order => order.Headers.Set("x-region", "eu")
                )
            )
        );
    }

    Console.WriteLine($"published {count}");
}

async Task AskAsync(string sku)
{
    await using var scope = host.Services.CreateAsyncScope();
    var client = scope.ServiceProvider.GetRequiredService<IRequestClient<GetPrice>>();
    try
    {
        var price = await client.GetResponse<Price>(new GetPrice(sku));
        Console.WriteLine($"price {price.Message.Sku} {price.Message.Amount}");
    }
    catch (RequestFaultException ex)
    {
        Console.WriteLine($"fault {ex.Fault!.Exceptions[0].ExceptionType} {ex.Fault.Exceptions[0].Message}");
    }
}
