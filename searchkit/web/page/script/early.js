// Runs before anything is painted, so that a page that was set to dark never flashes white.
{
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") {
        document.documentElement.dataset.theme = chosen;
    }
}
