using Esb.BareClient;
using Npgsql;
using RabbitMQ.Client;

// The same work as samples/database with nothing between HTTP, broker and database: what the bus is measured against (loadtests/topics).
// No audit, no retries, no reconnects, no limits: a floor for the cost, not a proposal.
var settings = BareSettings.Read();
var parts = new NpgsqlConnectionStringBuilder(settings.Postgres)
{
    MaxPoolSize = settings.Connections,
    MaxAutoPrepare = 64,
    NoResetOnClose = true,
    Enlist = false,
};
await using var database = NpgsqlDataSource.Create(parts);
var factory = new ConnectionFactory { Uri = new Uri(settings.RabbitMq) };
await using var publishing = await factory.CreateConnectionAsync();
await using var consuming = await factory.CreateConnectionAsync();
var orders = new BareOrders(publishing, consuming, database, settings);
var customers = new BareCustomers(publishing, consuming, database, settings);
await orders.StartAsync();
await customers.StartAsync();

IChannel? inserting = null;
var builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.WebHost.UseUrls(settings.Url);
await using var app = builder.Build();
app.MapPost("/orders", orders.PublishAsync);
app.MapPost("/customers", customers.AskAsync);
app.MapPost(
    "/resume",
    async () =>
    {
        inserting ??= await orders.ConsumeAsync();
    }
);
app.MapPost(
    "/pause",
    async () =>
    {
        if (inserting is not null)
            await inserting.DisposeAsync();
        inserting = null;
    }
);
await app.RunAsync();
