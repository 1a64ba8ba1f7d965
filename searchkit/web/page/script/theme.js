// Light or dark: as the system says, until somebody presses the button.

/** Let a button change between light and dark, and remember it here. */
export function themeButton(element) {
    element.addEventListener("click", () => {
        const root = document.documentElement;
        const isDark =
            (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
        root.dataset.theme = isDark ? "light" : "dark";
        localStorage.setItem("theme", root.dataset.theme);
    });
}
